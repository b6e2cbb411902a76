import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../../platform/time/clock.ts';
import { atMost, within } from '../../../platform/time/within.ts';

/** The folder of the embedded database, and the end of its newest backup. Null if no BACKUP_DIR is set. */
export type EmbeddedData = { folder: string; newestBackupAt: (() => Promise<number | null>) | null };

/** Backups are made about once a day, so BACKUP_DIR, which may be a network folder, is not read for each scrape. */
const READ_EVERY_MS = 60_000;
/** A network folder that does not respond must not delay a scrape. The last value is shown instead. */
const WAIT_MS = 500;

/** Adds metrics of the embedded database's machine. An external database is monitored where it runs. */
export function watchEmbedded(registry: Registry, data: EmbeddedData, clock: Clock): void {
  const registers = [registry];
  new Gauge({
    name: 'beckon_data_free_bytes',
    help: 'Free disk space of the embedded database',
    registers,
    aggregator: 'min',
    async collect() {
      this.remove();
      const free = await within(freeIn(data.folder), WAIT_MS).catch(() => null);
      if (free !== null) this.set(free);
    },
  });
  const { newestBackupAt } = data;
  if (newestBackupAt === null) return;
  const newest = cached(newestBackupAt, clock);
  new Gauge({
    name: 'beckon_backup_newest_timestamp_seconds',
    help: 'End of the newest backup of this database in BACKUP_DIR. 0 if none exists or can be read.',
    registers,
    aggregator: 'max',
    async collect() {
      this.set((await newest()) / 1_000);
    },
  });
}

async function freeIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function cached(read: () => Promise<number | null>, clock: Clock): () => Promise<number> {
  let last = 0;
  let readAt = -Infinity;
  let pending: Promise<void> | null = null;
  async function renew(): Promise<void> {
    last = (await read().catch(() => null)) ?? 0;
    readAt = clock.now();
    pending = null;
  }
  return async () => {
    if (clock.now() - readAt >= READ_EVERY_MS) await atMost((pending ??= renew()), WAIT_MS);
    return last;
  };
}
