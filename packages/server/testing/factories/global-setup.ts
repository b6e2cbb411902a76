import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openEmbedded } from '@beckon/postgres';
import { PRODUCT } from '../../src/main/product.ts';
import { dropClusterDatabases } from './cluster.ts';
import { silentLog } from '../../src/platform/log.ts';
import { migrate } from '../../src/platform/db/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connects to a database in which others may be created. */
    adminUrl: string;
    /** A migrated database of this run, used as the template of clones. */
    template: string;
    /** True if that database is one of a distributed cluster, on which databases are not cloned. */
    isCluster: boolean;
  }
}

/** Starts one cluster with one migrated template for the whole run. Every test file clones the template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clusterUrl = process.env.TEST_CLUSTER_URL;
  project.provide('isCluster', Boolean(clusterUrl));
  if (clusterUrl) {
    await dropClusterDatabases(clusterUrl);
    project.provide('adminUrl', clusterUrl);
    project.provide('template', '');
    return () => dropClusterDatabases(clusterUrl);
  }
  const adminUrl = process.env.TEST_ADMIN_DATABASE_URL ?? process.env.TEST_DATABASE_URL;
  const cluster = adminUrl ? { url: adminUrl, stop: async () => {} } : await startCluster();
  const template = `beckon_template_${process.pid}`;
  await makeTemplate(cluster.url, template);
  project.provide('adminUrl', cluster.url);
  project.provide('template', template);
  return async () => {
    await inAdmin(cluster.url, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
    await cluster.stop();
  };
}

async function startCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-test-'));
  const embedded = await openEmbedded({ product: PRODUCT, dataDir, log: silentLog, print: () => {} });
  const at = embedded.connection();
  return {
    url: `postgres://${at.user}:${at.password}@${at.host}:${at.port}/${at.database}`,
    async stop() {
      await embedded.release();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(adminUrl: string, template: string): Promise<void> {
  await inAdmin(adminUrl, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
  await inAdmin(adminUrl, `CREATE DATABASE ${template}`);
  const url = new URL(adminUrl);
  url.pathname = template;
  await migrate(() => ({ connectionString: url.href }));
}

export async function inAdmin(adminUrl: string, statement: string): Promise<void> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}
