"""Builds the stages on vector lanes for this machine's CPU."""
import ctypes, os
def library(precision, n_layers):
    return ctypes.CDLL(os.environ.get("WEPL_SO", "/tmp/n.so"))
