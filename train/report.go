package main

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/model"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Parse(reportText))

// reportData is what the template of the report shows.
type reportData struct {
	Config  *Config
	Result  *result
	Epochs  []model.EpochMetrics
	Figures *figures
}

// writeReport writes the report of a completed run as one HTML file that needs
// nothing else.
func writeReport(path string, c *Config, r *result, epochs []model.EpochMetrics, f *figures) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return reportTemplate.Execute(w, reportData{c, r, epochs, f})
	})
}
