"""The checks, which `opcheck.registry` lists."""
