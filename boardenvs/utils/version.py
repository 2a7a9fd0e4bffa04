"""The version of the package, for those who write it into files."""

__version__ = "0.1.0"
