"""The steps: one file, one step, one public function; the folder is the kind it writes."""
