"""Environments of text for other libraries, one file each, which is named after its library.

Each is thin: a `TextEnv` or an `ExamEnv` plays, asks and reads. They import their library, which
boardenvs does not install.
"""
