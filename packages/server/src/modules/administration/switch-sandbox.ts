import type { Clock } from '../../platform/time/clock.ts';
import { Fault } from '../../platform/fault.ts';
import { lockQueue } from '../ingest/index.ts';
import { findPair, type Pair, getSettings, settingsOfSandbox } from '../workspace/index.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { setModel } from '../../platform/locks/store.ts';
import { copyRows } from '../../platform/db/project-rows.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { createBareProject } from './create-project.ts';
import { setClosed, setSandbox, replaceSettings } from './project-store.ts';

/**
 * Opens or closes the sandbox of a live project. It is created the first time, and later closed and reopened with everything in it. The
 * caller holds the project lock, and has already locked everything else in its transaction.
 */
export async function switchSandbox(
  deps: { tx: Tx; clock: Clock },
  projectId: number,
  isOn: boolean,
): Promise<void> {
  const pair = await findPair(deps.tx, projectId);
  if (isOn) requireLive(pair);
  if (pair.sandboxId === null) {
    if (isOn) await makeSandbox(deps, pair);
    return;
  }
  await lockQueue(deps.tx, pair.sandboxId);
  await setClosed(deps.tx, { sandboxId: pair.sandboxId, isClosed: !isOn });
}

function requireLive({ livemode, isDemo }: Pair): void {
  if (livemode && !isDemo) return;
  const message = isDemo
    ? 'A demo has no sandbox, because it never sends real emails'
    : 'A sandbox has no sandbox of its own';
  throw new Fault('validation_failed', { details: [{ message, field: 'sandbox' }] });
}

/**
 * Creates the sandbox and copies the definitions once, as they are now: settings, audiences, rules and templates. Users, their events, keys
 * and endpoints are not copied.
 */
async function makeSandbox(deps: { tx: Tx; clock: Clock }, live: Pair): Promise<void> {
  const { tx } = deps;
  const { projectId: liveId, organizationId } = live;
  const { model } = await takeProjectLock(tx, liveId);
  const name = nameOf(live);
  const { id: sandboxId } = await createBareProject(deps, { name, organizationId, sandboxOf: liveId });
  await setSandbox(tx, { liveId, sandboxId });
  const { stored } = await getSettings(tx, liveId);
  await replaceSettings(tx, { projectId: sandboxId, settings: settingsOfSandbox(stored) });
  await copyRows(tx, { from: liveId, to: sandboxId }, DEFINITIONS);
  // Audience versions are numbered by the model.
  await setModel(tx, { projectId: sandboxId, model });
}

/** The maximum length of a name, minus the suffix. */
const NAME_CHARS = 88;

function nameOf({ name }: Pair): string {
  return `${Array.from(name).slice(0, NAME_CHARS).join('').trimEnd()} (sandbox)`;
}

/** A new sandbox has no users, so every audience is complete at once, and every count begins with the first user. */
const DEFINITIONS: Parameters<typeof copyRows>[2] = {
  audience: {},
  audience_version: {
    // For an audience that is being edited, only its newest version.
    only: `state <> 'retired' AND NOT EXISTS (SELECT 1 FROM beckon.audience_version n
      WHERE n.project_id = $1 AND n.audience_id = audience_version.audience_id AND n.version_id > audience_version.version_id
        AND n.state <> 'retired')`,
    columns: {
      state: `'served'`,
      members: '0',
      users: '0',
      built: '0',
      built_to: 'NULL',
    },
  },
  counted_event: { columns: { counted_to: 'NULL', is_whole: 'true' } },
  rule: {},
  rule_version: {},
  template: {},
  template_version: {},
};
