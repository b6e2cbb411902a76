import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { silentLog } from '../src/base/log.ts';
import { migrate } from '../src/io/db/index.ts';

export const TEMPLATE = 'beckon_template';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Reaches a database in which others may be made. */
    adminUrl: string;
  }
}

/** One cluster for the whole run, one migrated template in it; every test file clones the template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_ADMIN_DATABASE_URL ?? process.env.TEST_DATABASE_URL;
  const cluster = given ? { url: given, stop: async () => {} } : await startCluster();
  await makeTemplate(cluster.url);
  project.provide('adminUrl', cluster.url);
  return cluster.stop;
}

async function startCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const { openEmbedded } = await import('../src/io/embedded/index.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-test-'));
  const embedded = await openEmbedded({ dataDir, log: silentLog, print: () => {} });
  const at = embedded.connection();
  return {
    url: `postgres://${at.user}:${at.password}@${at.host}:${at.port}/${at.database}`,
    async stop() {
      await embedded.release();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(adminUrl: string): Promise<void> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const url = new URL(adminUrl);
  url.pathname = TEMPLATE;
  await migrate(() => ({ connectionString: url.href }));
}
