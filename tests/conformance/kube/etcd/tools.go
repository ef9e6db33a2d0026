//go:build tools

// Package etcd names the store that the API server of the conformance suite keeps its objects in.
package etcd

import (
	_ "go.etcd.io/etcd/server/v3"
)
