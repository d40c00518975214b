// Package chromem keeps vectors in chromem-go collections, one per knowledge
// base, and searches them with a scan of its own.
//
// chromem-go's documents hold the exact vectors but no copy of them: they
// alias rows of fixed segments (segment.go). Beside each row stands a code of
// one byte per dimension with a bound of its error. A search scans the codes,
// keeps the rows that may be among the best by that bound, and scores those
// from the exact vectors: its answer is that of an exact scan, ties included.
//
// In a large collection full segments also have a sketch, one bit a dimension
// (sketch.go). A search that need not be exact adds up the bits of all rows in
// blocks, three eighths of them at first; looks at all bits of the rows that
// this leaves; and reads the codes of those whose estimate, raised by 2.5
// standard deviations of its error, reaches the best found. The error depends
// on the dimension and not on the data, so there is nothing to train, to tune
// or to rebuild, and recall does not fall with changes.
//
// One writer at a time makes the next snapshot and swaps it in; searches work
// on the snapshot they started with and never wait. Removed rows are marked;
// when more than a quarter of all are, segments are emptied and given back.
//
// The inner loops are assembly for amd64 with AVX2 and for arm64, and Go
// elsewhere, with the tag purego, and where GODEBUG=cpu.avx2=off says so; all
// give the same integers and the same floats.
//
// # Memory
//
// A row takes 4 bytes a dimension for its vector and 1 for its code; in a full
// segment 1/8 and a record of 8 bytes for 64 dimensions, plus 8, for its
// sketch; and about 180 for the rest: lengths, id, table of ids, chromem-go's
// document. That is 2.2 kB at 384 dimensions. Index.Bytes counts all of it but
// the letters of the ids, with the rows of open segments that are not used yet.
//
// # No files
//
// chromem-go's own persistence is not used: everything here is a cache of the
// records and is rebuilt from them by Load. Codes and sketches are not kept in
// files either. Of the 0.20 s that loading 100,000 x 384 takes on two cores,
// they are a third; the rest is copying the vectors into fresh memory and
// chromem-go's documents. A file of them would have 50 MB to be written, synced
// and read, and a checksum of every vector to be compared, for 0.07 s.
package chromem
