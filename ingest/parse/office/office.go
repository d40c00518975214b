// Package office reads documents of Word, PowerPoint and Excel, and of
// OpenDocument: zip files of XML parts. It reads them as streams, and of any
// file only what its text needs. A part that is cut off or broken is read up to
// there, with a warning.
package office
