"""GAT-PCM-LNS: large neighbourhood search guided by a pretrained cost model (Deng et al., AAAI 2022)."""
