package ingest

// GiveWay lowers the priority of the calling goroutine for the rest of its life,
// as that of workers is: for what else goes on in the background.
func GiveWay() { giveWay() }
