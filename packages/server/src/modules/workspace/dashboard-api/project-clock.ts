import { findPair } from '../projects/sandbox.ts';
import { withProjectClock } from '../../../platform/locks/project-lock.ts';
import type { KitDeps } from './route.ts';

/** Runs in real time whatever the clock of a sandbox shows: access, ingest, and webhooks. */
const IN_REAL_TIME = new Set([
  'audit',
  'clock',
  'dead-letters',
  'domains',
  'imports',
  'invites',
  'keys',
  'listen',
  'listener',
  'members',
  'organization',
  'rate-limits',
  'support-bundle',
  'system',
  'test-event',
  'warnings',
  'webhook-deliveries',
  'webhook-replays',
  'webhooks',
]);

export type ProjectClocks = <D extends Pick<KitDeps, 'db' | 'newId'>>(
  deps: D,
  key: string,
  projectId: number,
) => Promise<D>;

/** Runs everything else in a sandbox by its own clock. The answer whether a project is live is read once, because it never changes. */
export function projectClocks(): ProjectClocks {
  const isLive = new Map<number, boolean>();
  return async (deps, key, projectId) => {
    const [, , noun = ''] = key.split('/').slice(1);
    if (projectId === 0 || IN_REAL_TIME.has(noun)) return deps;
    const livemode = isLive.get(projectId) ?? (await findPair(deps.db, projectId)).livemode;
    isLive.set(projectId, livemode);
    return livemode ? deps : withProjectClock(deps, projectId);
  };
}
