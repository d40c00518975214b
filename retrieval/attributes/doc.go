// Package attributes keeps in memory what documents can be filtered by: a table
// per knowledge base, one column per field. It is a cache of the records.
//
// A column keeps every distinct value once and a pair of numbers for each
// document that has it. A comparison is decided for the distinct values, and
// one pass over the pairs marks the documents: it costs the same whether one
// document is chosen or all, and a document that changes costs its own fields.
package attributes
