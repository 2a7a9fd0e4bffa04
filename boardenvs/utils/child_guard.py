"""Run a program; kill it with all that it started when the process that wants it has gone.

`python -I -S child_guard.py FD COMMAND...`, as the leader of a process group. FD is the read end
of a pipe whose write end the parent process holds for as long as it lives.
"""

import _thread
import os
import signal
import sys


def main() -> None:
    """Run the command, and exit with its exit code, or 128 and the signal that ended it."""
    life, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(life, False)
    pid = os.fork()
    if not pid:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # they are the program's, and must end with it
        os.dup2(nothing, stream)
    _thread.start_new_thread(end_with_parent, (life,))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


def end_with_parent(life: int) -> None:
    """Kill the process group, this process too, when the pipe's other end is closed."""
    os.read(life, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
