"""The checks that `opcheck.registry` lists."""
