// Package eval measures retrieval: it reads test collections (BEIR folders,
// TREC qrels and run files, folders of PDFs judged by page), asks a Retriever
// every judged question, and computes the field's measures as trec_eval does.
//
// # Conventions, where collections and tools differ
//
//   - A document is relevant from grade 1 on; grades of 0 and below are not.
//   - nDCG has linear gain and a log2(rank+1) discount; its ideal ranking is
//     made of all relevant documents of the qrels, found or not.
//   - A mean is taken over every query the qrels judge, as `trec_eval -c`
//     does: a query that returned nothing counts 0, and so does one without
//     any relevant document. Results of queries without judgements are ignored.
//   - A ranking is a list of distinct documents, best first. The order in the
//     list decides, never the score. WriteRun prints scores that strictly
//     decrease down every list, so trec_eval, which sorts by score and breaks
//     ties by descending document id, sees the same order and computes the
//     same figures. ReadRun orders what it reads as trec_eval does.
package eval
