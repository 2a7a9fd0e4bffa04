"""`python -m boardenvs.render FOLDER` writes a picture of every game into the folder."""

import argparse
from pathlib import Path

from boardenvs.render.gallery import write_pictures

parser = argparse.ArgumentParser(prog="python -m boardenvs.render", description=__doc__)
parser.add_argument("folder", type=Path)
write_pictures(parser.parse_args().folder)
