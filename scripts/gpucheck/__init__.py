"""Runs example programs and cases through gpuport and checks what comes of them."""
