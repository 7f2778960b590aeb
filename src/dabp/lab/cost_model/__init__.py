"""Pretraining of the cost model of `gat-pcm-lns`; needs PyTorch."""
