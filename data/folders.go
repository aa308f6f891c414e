package data

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // the formats of image folders
	_ "image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxImageFile bounds the size of a file in an image folder.
const maxImageFile = 1 << 20

// readImageFolders reads images [N, 3, side, side] from the folders in dir, one
// for each class, in the order of the files' names. Files that are called neither
// .png nor .jpg nor .jpeg are left alone. The error is a *FileError.
func readImageFolders(dir string, classes []string, side int) (Split, error) {
	var paths []string
	var s Split
	for class, name := range classes {
		folder := filepath.Join(dir, name)
		entries, err := os.ReadDir(folder)
		if err != nil {
			return Split{}, &FileError{Path: folder, Problem: "cannot be read: " + cause(err).Error(), Remedy: "check the folder and its permissions", Err: err}
		}
		before := len(paths)
		for _, e := range entries {
			if slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(filepath.Ext(e.Name()))) && !strings.HasPrefix(e.Name(), ".") {
				paths = append(paths, filepath.Join(folder, e.Name()))
				s.Labels = append(s.Labels, uint8(class))
			}
		}
		if len(paths) == before {
			return Split{}, &FileError{Path: folder, Problem: "no image in it", Remedy: "put the images of the class there, as .png or .jpg"}
		}
	}
	pixels := 3 * side * side
	canvas := image.NewRGBA(image.Rect(0, 0, side, side))
	for i, path := range paths {
		err := readFile(path, func(r io.Reader) error {
			if err := drawImage(canvas, r, path); err != nil {
				return err
			}
			if i == 0 { // before that nothing says that these are images at all
				s.Images = make([]uint8, 0, len(paths)*pixels)
			}
			s.Images = appendPlanes(s.Images, canvas)
			return nil
		})
		if err != nil {
			return Split{}, err
		}
	}
	return s, nil
}

// drawImage draws the PNG or JPEG image in r, which must have canvas's size, on
// canvas. name is used in errors, which are *FileError.
func drawImage(canvas *image.RGBA, r io.Reader, name string) error {
	bad := func(err error, format string, args ...any) error {
		return &FileError{Path: name, Problem: fmt.Sprintf(format, args...), Remedy: "remove the file or put the right one in its place", Err: err}
	}
	content, err := io.ReadAll(io.LimitReader(r, maxImageFile+1))
	switch {
	case err != nil:
		return bad(err, "cannot be read: %v", cause(err))
	case len(content) > maxImageFile:
		return bad(nil, "more than %d bytes", maxImageFile)
	}
	// The size comes first: decoding takes as much memory as it says.
	head, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return bad(err, "not a PNG or JPEG image: %v", err)
	}
	if want := canvas.Rect; head.Width != want.Dx() || head.Height != want.Dy() {
		return bad(nil, "%d x %d pixels where %d x %d are needed", head.Width, head.Height, want.Dx(), want.Dy())
	}
	img, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return bad(err, "damaged image: %v", err)
	}
	draw.Draw(canvas, canvas.Rect, img, img.Bounds().Min, draw.Src)
	return nil
}

// appendPlanes appends the planes of red, green and blue of img to dst.
func appendPlanes(dst []uint8, img *image.RGBA) []uint8 {
	for channel := range 3 {
		for i := channel; i < len(img.Pix); i += 4 {
			dst = append(dst, img.Pix[i])
		}
	}
	return dst
}
