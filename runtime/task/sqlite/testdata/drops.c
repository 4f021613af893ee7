// File systems for SQLite. "slow" is the system's, with syncs that take 2 ms more. Two behave as a disk does when the power fails: what was written and not synced is in the memory of the process, and goes
// with it when it is killed. "drops" loses all of it. "tears" loses a part: it writes each range at once or not before the sync, as a coin falls, so that
// what is left is neither the old state nor the new one.
//
// This is C because SQLite asks a file system for functions of C, and drivers of Go have no way to register one. A test compiles it with the compiler that
// the driver needs, too, and has SQLite load it. The other half, locks and shared memory, is that of the system: killed processes leave those as a crash
// does. Names of files are, too: SQLite's own file system syncs the folder when it first syncs a journal that it has made.
//
// All connections are in one process, which has the files to itself, so a file's content is kept once, under its name.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1

#define BLOCK 512

typedef struct Image { // a file as its readers see it
	struct Image *next;
	char *name;
	unsigned char *bytes;
	unsigned char *unsynced; // one for each block
	sqlite3_int64 size, room;
} Image;

typedef struct File {
	sqlite3_file base;
	Image *image;
	int tears;
	sqlite3_file *disk; // behind this struct
} File;

static sqlite3_vfs *system_vfs, drops, tears, slow;
static sqlite3_mutex *mu; // of all images
static Image *images;

static sqlite3_file *disk(sqlite3_file *f) { return ((File *)f)->disk; }

static int grow(Image *m, sqlite3_int64 size) {
	if (size > m->room) {
		sqlite3_int64 room = (2 * size / BLOCK + 1) * BLOCK;
		unsigned char *bytes = realloc(m->bytes, room), *unsynced = realloc(m->unsynced, room / BLOCK);
		if (!bytes || !unsynced) abort();
		memset(bytes + m->room, 0, room - m->room);
		memset(unsynced + m->room / BLOCK, 0, (room - m->room) / BLOCK);
		m->bytes = bytes, m->unsynced = unsynced, m->room = room;
	}
	if (size > m->size) m->size = size;
	return SQLITE_OK;
}

static int xRead(sqlite3_file *f, void *to, int n, sqlite3_int64 at) {
	Image *m = ((File *)f)->image;
	sqlite3_mutex_enter(mu);
	int have = at >= m->size ? 0 : m->size - at < n ? (int)(m->size - at) : n;
	memcpy(to, m->bytes + at, have);
	sqlite3_mutex_leave(mu);
	memset((char *)to + have, 0, n - have);
	return have < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int xWrite(sqlite3_file *f, const void *from, int n, sqlite3_int64 at) {
	Image *m = ((File *)f)->image;
	unsigned char coin = 0;
	if (((File *)f)->tears) sqlite3_randomness(1, &coin);
	sqlite3_mutex_enter(mu);
	int rc = grow(m, at + n);
	memcpy(m->bytes + at, from, n);
	if (coin & 1) {
		rc = disk(f)->pMethods->xWrite(disk(f), from, n, at);
	} else {
		memset(m->unsynced + at / BLOCK, 1, (at + n - 1) / BLOCK - at / BLOCK + 1);
	}
	sqlite3_mutex_leave(mu);
	return rc;
}

static int xTruncate(sqlite3_file *f, sqlite3_int64 size) {
	Image *m = ((File *)f)->image;
	sqlite3_mutex_enter(mu);
	if (size < m->size) { // should the file grow again before it is synced, what the disk has there is to be overwritten
		memset(m->bytes + size, 0, m->size - size);
		memset(m->unsynced + size / BLOCK, 1, (m->size - 1) / BLOCK - size / BLOCK + 1);
		m->size = size;
	}
	sqlite3_mutex_leave(mu);
	return SQLITE_OK;
}

// settle writes what is unsynced to the disk.
static int settle(Image *m, sqlite3_file *d) {
	sqlite3_int64 had;
	int rc = d->pMethods->xFileSize(d, &had);
	for (sqlite3_int64 at = 0; at < m->size && rc == SQLITE_OK; at += BLOCK) {
		int n = m->size - at < BLOCK ? (int)(m->size - at) : BLOCK;
		if (m->unsynced[at / BLOCK]) rc = d->pMethods->xWrite(d, m->bytes + at, n, at);
	}
	if (rc == SQLITE_OK && had > m->size) rc = d->pMethods->xTruncate(d, m->size);
	if (rc == SQLITE_OK && m->room) memset(m->unsynced, 0, m->room / BLOCK);
	return rc;
}

static int xSync(sqlite3_file *f, int flags) {
	sqlite3_mutex_enter(mu);
	int rc = settle(((File *)f)->image, disk(f));
	sqlite3_mutex_leave(mu);
	return rc == SQLITE_OK ? disk(f)->pMethods->xSync(disk(f), flags) : rc;
}

static int xFileSize(sqlite3_file *f, sqlite3_int64 *size) {
	sqlite3_mutex_enter(mu);
	*size = ((File *)f)->image->size;
	sqlite3_mutex_leave(mu);
	return SQLITE_OK;
}

static int xFileControl(sqlite3_file *f, int op, void *arg) {
	switch (op) {
	case SQLITE_FCNTL_SIZE_HINT: // the disk would grow
	case SQLITE_FCNTL_CHUNK_SIZE:
	case SQLITE_FCNTL_MMAP_SIZE: // what is mapped is not the image
		return SQLITE_NOTFOUND;
	}
	return disk(f)->pMethods->xFileControl(disk(f), op, arg);
}

// What follows is the system's.
static int xClose(sqlite3_file *f) { return disk(f)->pMethods->xClose(disk(f)); } // a closed file is no more on the disk than an open one
static int xLock(sqlite3_file *f, int level) { return disk(f)->pMethods->xLock(disk(f), level); }
static int xUnlock(sqlite3_file *f, int level) { return disk(f)->pMethods->xUnlock(disk(f), level); }
static int xCheckReservedLock(sqlite3_file *f, int *held) { return disk(f)->pMethods->xCheckReservedLock(disk(f), held); }
static int xSectorSize(sqlite3_file *f) { return disk(f)->pMethods->xSectorSize(disk(f)); }
static int xDeviceCharacteristics(sqlite3_file *f) { return disk(f)->pMethods->xDeviceCharacteristics(disk(f)); }
static int xShmMap(sqlite3_file *f, int page, int size, int extend, void volatile **at) {
	return disk(f)->pMethods->xShmMap(disk(f), page, size, extend, at);
}
static int xShmLock(sqlite3_file *f, int offset, int n, int flags) { return disk(f)->pMethods->xShmLock(disk(f), offset, n, flags); }
static void xShmBarrier(sqlite3_file *f) { disk(f)->pMethods->xShmBarrier(disk(f)); }
static int xShmUnmap(sqlite3_file *f, int remove) { return disk(f)->pMethods->xShmUnmap(disk(f), remove); }

static const sqlite3_io_methods methods = {2, xClose, xRead, xWrite, xTruncate, xSync, xFileSize, xLock, xUnlock, xCheckReservedLock, xFileControl,
	xSectorSize, xDeviceCharacteristics, xShmMap, xShmLock, xShmBarrier, xShmUnmap, 0, 0};

// find returns where the list has an image, or where it ends.
static Image **find(const char *name) {
	Image **m = &images;
	while (*m && strcmp((*m)->name, name)) m = &(*m)->next;
	return m;
}

// imageOf finds the content of a file, or reads it from the disk.
static int imageOf(const char *name, sqlite3_file *d, Image **found) {
	sqlite3_int64 size;
	int rc = d->pMethods->xFileSize(d, &size);
	*found = *find(name);
	if (*found || rc != SQLITE_OK) return rc;
	Image *m = calloc(1, sizeof *m);
	if (!m || !(m->name = strdup(name))) abort();
	grow(m, size);
	for (sqlite3_int64 at = 0; at < size && rc == SQLITE_OK; at += BLOCK) {
		rc = d->pMethods->xRead(d, m->bytes + at, size - at < BLOCK ? (int)(size - at) : BLOCK, at);
	}
	m->next = images, images = *found = m;
	return rc;
}

static int xOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got) {
	if (!name) return system_vfs->xOpen(system_vfs, name, file, flags, got); // a temporary file, which no crash leaves behind
	File *f = (File *)file;
	memset(f, 0, sizeof *f);
	f->disk = (sqlite3_file *)(f + 1), f->tears = vfs == &tears;
	int rc = system_vfs->xOpen(system_vfs, name, f->disk, flags, got);
	if (rc != SQLITE_OK) return rc;
	f->base.pMethods = &methods;
	sqlite3_mutex_enter(mu);
	rc = imageOf(name, f->disk, &f->image);
	sqlite3_mutex_leave(mu);
	return rc;
}

static int xDelete(sqlite3_vfs *vfs, const char *name, int sync) {
	sqlite3_mutex_enter(mu);
	Image **m = find(name);
	if (*m) *m = (*m)->next; // whoever has it open keeps it
	sqlite3_mutex_leave(mu);
	return system_vfs->xDelete(system_vfs, name, sync);
}

// SQLite takes an empty file for none.
static int xAccess(sqlite3_vfs *vfs, const char *name, int flags, int *yes) {
	int rc = system_vfs->xAccess(system_vfs, name, flags, yes);
	sqlite3_mutex_enter(mu);
	if (flags == SQLITE_ACCESS_EXISTS && *find(name)) *yes = (*find(name))->size > 0;
	sqlite3_mutex_leave(mu);
	return rc;
}

static int add(sqlite3_vfs *vfs, const char *name) {
	*vfs = *system_vfs; // the functions that have nothing to do with content stay as they are
	vfs->zName = name, vfs->pNext = 0, vfs->szOsFile += sizeof(File), vfs->xOpen = xOpen, vfs->xDelete = xDelete,
	vfs->xAccess = xAccess;
	return sqlite3_vfs_register(vfs, 0);
}

static struct { // the system's methods for a kind of files, and those with another xSync
	const sqlite3_io_methods *system;
	sqlite3_io_methods slow;
} kinds[8];

static int slowSync(sqlite3_file *f, int flags) {
	const struct timespec extra = {0, 2000000};
	nanosleep(&extra, 0);
	return kinds[0].system->xSync(f, flags); // which is one function for all kinds
}

static int slowOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got) {
	int rc = system_vfs->xOpen(system_vfs, name, file, flags, got), kind = 0;
	if (rc != SQLITE_OK) return rc;
	sqlite3_mutex_enter(mu);
	while (kind < 8 && kinds[kind].system && kinds[kind].system != file->pMethods) kind++;
	if (kind == 8) abort();
	if (!kinds[kind].system) kinds[kind].slow = *file->pMethods, kinds[kind].slow.xSync = slowSync, kinds[kind].system = file->pMethods;
	sqlite3_mutex_leave(mu);
	file->pMethods = &kinds[kind].slow;
	return rc;
}

static int addSlow(void) {
	slow = *system_vfs;
	slow.zName = "slow", slow.pNext = 0, slow.xOpen = slowOpen;
	return sqlite3_vfs_register(&slow, 0);
}

int sqlite3_drops_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
	SQLITE_EXTENSION_INIT2(api);
	if (mu) return SQLITE_OK_LOAD_PERMANENTLY;
	mu = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
	system_vfs = sqlite3_vfs_find(0);
	if (!mu || !system_vfs) return SQLITE_ERROR;
	int rc = add(&drops, "drops");
	if (rc == SQLITE_OK) rc = add(&tears, "tears");
	if (rc == SQLITE_OK) rc = addSlow();
	return rc == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : rc;
}
