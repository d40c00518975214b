package pdf

// regions cuts the rows of a page into columns, in reading order.
func regions(rows []row) [][]row {
	if len(rows) == 0 {
		return nil
	}
	return [][]row{rows}
}
