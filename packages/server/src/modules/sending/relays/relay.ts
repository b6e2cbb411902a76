import type { RelayKind, RelaySettings } from '../../../platform/relays/adapter.ts';

/** The project of relays that belong to the installation. No project has this id. */
export const INSTALLATION = 0;

/** A relay as it was set up, without its secrets. */
export type ConfiguredRelay = RelayId & {
  kind: RelayKind;
  name: string;
  /** The values of its fields that are not secret. */
  settings: RelaySettings;
  /** Raised by each change of its settings or secrets. */
  generation: number;
  createdAt: number;
  changedAt: number;
  /** The last test. `checkFailure` is null if it succeeded, or if there was none. */
  checkedAt: number | null;
  checkFailure: string | null;
  /** Set while a worker pauses it because it fails: since when, the last pause, and why. */
  failing: { since: number; lastAt: number; message: string } | null;
  /** When an outcome of an email of ours was first reported through it. */
  feedbackProvenAt: number | null;
  feedbackCursor: string | null;
};

/** `projectId`: its owner, or `INSTALLATION`. */
export type RelayId = { projectId: number; id: string };

/** A relay that a claimed email is sent through. A worker connects once for each generation. */
export type RelayRef = RelayId & {
  kind: RelayKind;
  generation: number;
  /** The number of SMTP connections, if it was set. */
  connections: number | null;
};

/** The relays that are assigned to a project: by domain, and for all other domains with an empty name. */
export type AssignedRelays<R = RelayRef> = {
  byDomain: ReadonlyMap<string, R>;
  /** The relay of the installation. */
  fallback: R | null;
};

/** Returns the relay of the domain, else that of its project, else that of the installation. Null: the relay of `SMTP_URL`. */
export function chooseRelay<R>({ byDomain, fallback }: AssignedRelays<R>, domain: string): R | null {
  return byDomain.get(domain) ?? byDomain.get(WHOLE_PROJECT) ?? fallback;
}

/** The domain of an assignment that is for the whole project. */
export const WHOLE_PROJECT = '';

/** Identifies one connection to a relay. Null: the relay of `SMTP_URL`. */
export function connectionKey(relay: Pick<RelayRef, 'id' | 'generation'> | null): string {
  return relay === null ? '' : `${relay.id} ${relay.generation}`;
}
