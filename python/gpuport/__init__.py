"""The Python side of gpuport: the worker that runs a workload in a process of its own."""
