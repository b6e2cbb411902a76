import type {
  Relay,
  RelayField as RelayFieldView,
  RelayKindInfo as KindView,
} from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import type { RelayField } from '../../../platform/relays/adapter.ts';
import type { RelayKindInfo } from '../../../platform/relays/kind-info.ts';
import type { RelayKinds } from '../../../platform/relays/kinds.ts';
import { listAssignments, listRelays, type RelayUse } from './reads.ts';
import { type ConfiguredRelay, INSTALLATION, WHOLE_PROJECT } from './relay.ts';

export type RelayViewDeps = { db: Tx & { clock: { now(): number } }; kinds: RelayKinds };

/** `isOperator`: may read the settings of the relays of the installation. */
export type RelaysQuery = { projectId: number; isOperator: boolean };

/** Returns the relays of a project, followed by those of the installation. */
export async function showRelays(
  { db, kinds }: RelayViewDeps,
  { projectId, isOperator }: RelaysQuery,
): Promise<Relay[]> {
  const own = await listRelays(db, projectId);
  const shared = await listRelays(db, INSTALLATION);
  const assignments = await listAssignments(db, projectId);
  const now = db.clock.now();
  return [...own, ...shared].map((relay) => {
    const uses = assignments.filter(({ relayId }) => relayId === relay.id);
    const showsSettings = relay.projectId !== INSTALLATION || isOperator;
    return relayView(relay, { uses, kinds, now, showsSettings });
  });
}

/** A worker that still pauses a relay says so again within this time, as long as emails are due. */
const FAILING_FOR_MS = 15 * 60_000;

type ViewFacts = { uses: RelayUse[]; kinds: RelayKinds; now: number; showsSettings: boolean };

function relayView(relay: ConfiguredRelay, { uses, kinds, now, showsSettings }: ViewFacts): Relay {
  const failing = relay.failing && relay.failing.lastAt > now - FAILING_FOR_MS ? relay.failing : null;
  const ofProject = uses.filter(({ projectId }) => projectId !== INSTALLATION);
  return {
    id: relay.id,
    kind: relay.kind,
    title: kinds.of(relay.kind)?.title ?? relay.kind,
    name: relay.name,
    owner: relay.projectId === INSTALLATION ? 'installation' : 'project',
    settings: showsSettings ? { ...relay.settings } : {},
    state: failing ? 'failing' : testState(relay),
    failure: failing?.message ?? relay.checkFailure,
    failing_since: isoOrNull(failing?.since ?? null),
    checked_at: isoOrNull(relay.checkedAt),
    used_by_project: ofProject.some(({ domain }) => domain === WHOLE_PROJECT),
    used_by_domains: ofProject.flatMap(({ domain }) => (domain === WHOLE_PROJECT ? [] : [domain])),
    used_by_installation: uses.some(({ projectId }) => projectId === INSTALLATION),
    feedback_proven_at: isoOrNull(relay.feedbackProvenAt),
    created_at: iso(relay.createdAt),
    changed_at: iso(relay.changedAt),
  };
}

function testState({ checkedAt, checkFailure }: ConfiguredRelay): Relay['state'] {
  if (checkedAt === null) return 'untested';
  return checkFailure === null ? 'working' : 'test_failed';
}

export function kindView({ kind, title, fields, spfInclude }: RelayKindInfo): KindView {
  return { kind, title, fields: fields.map(fieldView), spf_include: spfInclude };
}

/** Describes a field for a form. */
export function fieldView({ name, label, isSecret, isOptional, hint, values }: RelayField): RelayFieldView {
  return {
    name,
    label,
    secret: isSecret,
    required: isOptional !== true && values === undefined,
    hint: hint ?? null,
    values: values ? [...values] : null,
  };
}
