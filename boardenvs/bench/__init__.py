"""Speed and memory, ours and others': `python -m boardenvs.bench`.

`workloads` and `search` say what is run, `peers` the same for other libraries, `measure` how often
and how it is timed, `placement` times single rules wherever their arrays lie, `report` what comes
out.
"""
