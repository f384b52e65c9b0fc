"""weir-bench: what does it cost? docs/BENCHMARKS.md says how it is used; __main__.py is where it begins."""
