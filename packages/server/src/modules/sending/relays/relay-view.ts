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
  const hasFallback = assignments.some(({ projectId: owner }) => owner === INSTALLATION);
  const now = db.clock.now();
  return [...own, ...shared].map((relay) => {
    const uses = assignments.filter(({ relayId }) => relayId === relay.id);
    const showsSettings = relay.projectId !== INSTALLATION || isOperator;
    return relayView(relay, { uses, kinds, now, showsSettings, hasFallback });
  });
}

/** A worker that still pauses a relay says so again within this time, as long as emails are due. */
const FAILING_FOR_MS = 15 * 60_000;

type ViewFacts = {
  uses: RelayUse[];
  kinds: RelayKinds;
  now: number;
  showsSettings: boolean;
  /** All projects without a relay use one of the installation, and not `SMTP_URL`. */
  hasFallback: boolean;
};

function relayView(
  relay: ConfiguredRelay,
  { uses, kinds, now, showsSettings, hasFallback }: ViewFacts,
): Relay {
  const failing = relay.failing && relay.failing.lastAt > now - FAILING_FOR_MS ? relay.failing : null;
  return {
    id: relay.id,
    kind: relay.kind,
    title: titleOf(relay, kinds),
    name: relay.name,
    owner: relay.projectId === INSTALLATION ? 'installation' : 'project',
    settings: showsSettings ? { ...relay.settings } : {},
    state: failing ? 'failing' : testState(relay),
    failure: failing?.message ?? relay.checkFailure,
    failing_since: isoOrNull(failing?.since ?? null),
    checked_at: isoOrNull(relay.checkedAt),
    ...usesOf(relay, uses, hasFallback),
    feedback_proven_at: isoOrNull(relay.feedbackProvenAt),
    created_at: iso(relay.createdAt),
    changed_at: iso(relay.changedAt),
  };
}

function titleOf({ kind, settings }: ConfiguredRelay, kinds: RelayKinds): string {
  return kinds.of(kind, settings)?.title ?? (kind === 'smtp_url' ? 'SMTP_URL' : kind);
}

type Uses = Pick<Relay, 'used_by_project' | 'used_by_domains' | 'used_by_installation'>;

/** The relay of `SMTP_URL` is assigned to nothing: it sends whatever has no other relay. */
function usesOf({ kind }: ConfiguredRelay, uses: RelayUse[], hasFallback: boolean): Uses {
  const ofProject = uses.filter(({ projectId }) => projectId !== INSTALLATION);
  const isAssigned = uses.length > ofProject.length;
  return {
    used_by_project: ofProject.some(({ domain }) => domain === WHOLE_PROJECT),
    used_by_domains: ofProject.flatMap(({ domain }) => (domain === WHOLE_PROJECT ? [] : [domain])),
    used_by_installation: kind === 'smtp_url' ? !hasFallback : isAssigned,
  };
}

function testState({ checkedAt, checkFailure }: ConfiguredRelay): Relay['state'] {
  if (checkedAt === null) return 'untested';
  return checkFailure === null ? 'working' : 'test_failed';
}

export function kindView({ kind, title, fields }: RelayKindInfo): KindView {
  return { kind, title, fields: fields.map(fieldView) };
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
