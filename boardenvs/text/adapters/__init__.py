"""Environments of text for other libraries, one file each, which are named after them.

Each is thin: a `TextEnv` or an `ExamEnv` plays, asks and reads, and the file says the same in the
library's words. They import their library, which boardenvs does not install.
"""
