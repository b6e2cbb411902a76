import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import { lockQueue } from '../../features/inbox/index.ts';
import {
  findPair,
  getSettings,
  type Pair,
  replaceSettings,
  setClosed,
  setSandbox,
  settingsOfSandbox,
} from '../../features/projects/index.ts';
import { startModelAt, takeTurn } from '../../features/turns/index.ts';
import { copyRows, type Tx } from '../../io/db/index.ts';
import { createBareProject } from '../create-project.ts';

/**
 * With the project's turn taken, and behind everything else that is locked in this transaction: the sandbox of a live project is
 * made the first time it is wanted, and closed and opened again later with all that is in it.
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

/** How it is decided who gets which letter is copied once, as it is now; people, what they did, keys and endpoints are not. */
async function makeSandbox(deps: { tx: Tx; clock: Clock }, live: Pair): Promise<void> {
  const { tx } = deps;
  const { projectId: liveId, organizationId } = live;
  const { model } = await takeTurn(tx, liveId);
  const name = nameOf(live);
  const { id: sandboxId } = await createBareProject(deps, { name, organizationId, sandboxOf: liveId });
  await setSandbox(tx, { liveId, sandboxId });
  const { stored } = await getSettings(tx, liveId);
  await replaceSettings(tx, { projectId: sandboxId, settings: settingsOfSandbox(stored) });
  await copyRows(tx, { from: liveId, to: sandboxId }, DEFINITIONS);
  // Editions of audiences are counted by it.
  await startModelAt(tx, { projectId: sandboxId, model });
}

/** As long as names may be, with room for the word. */
const NAME_CHARS = 88;

function nameOf({ name }: Pair): string {
  return `${Array.from(name).slice(0, NAME_CHARS).join('').trimEnd()} (sandbox)`;
}

/** There are no people, so every audience is whole as it stands, and every count begins with whoever comes first. */
const DEFINITIONS: Parameters<typeof copyRows>[2] = {
  audience: {},
  audience_edition: {
    // Of an audience that is being edited, what it will be.
    only: `state <> 'retired' AND NOT EXISTS (SELECT 1 FROM beckon.audience_edition n
      WHERE n.project_id = $1 AND n.audience_id = audience_edition.audience_id AND n.edition > audience_edition.edition
        AND n.state <> 'retired')`,
    columns: {
      state: `'served'`,
      served_at: 'coalesce(served_at, created_at)',
      members: '0',
      people: '0',
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
