package chromem

func fastest() kernels { return portable() }
