"""Any work on every object of a folder: resumable, limited, on one machine or a Ray cluster, with a report."""
