package chromem

// Bytes is the memory that counts against Config.MaxBytes: that of all rows but
// the letters of their ids, with the rows that are not used yet.
func (x *Index) Bytes() int64 { return x.budget.used.Load() }
