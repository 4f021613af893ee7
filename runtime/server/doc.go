// Package server dispatches requests to generated handlers.
package server
