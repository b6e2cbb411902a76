import type { NewId } from '../../base/ids.ts';
import type { TokenKeys } from '../../base/letter-token.ts';
import type { Log } from '../../base/log.ts';
import type { Sealer } from '../../base/seal.ts';
import type { MailSettings } from '../../features/domains/index.ts';
import type { Pepper } from '../../features/keys/index.ts';
import type { SuppressionHasher } from '../../features/suppressions/index.ts';
import type { Access, Team } from '../../features/team/index.ts';
import type { Models } from '../../flows/models.ts';
import type { Mailroom } from '../../flows/send-drafts/index.ts';
import type { Database } from '../../io/db/index.ts';
import type { Resolver } from '../../io/dns/index.ts';
import type { Relay } from '../../io/mail/index.ts';
import type { Outbound } from '../../io/outbound/index.ts';
import type { Release } from '../health.ts';
import type { TransportRules } from '../transport.ts';
import type { Feeds } from './feeds.ts';

/** What the dashboard's routes are handed once, at start. */
export type DashboardDeps = {
  db: Database;
  newId: NewId;
  log: Log;
  access: Access;
  /** The same, and how people become somebody that it knows. */
  team: Team;
  /** Wakes whoever digests, where something was put there by a person. */
  wake: () => void;
  pepper: Pepper;
  sealer: Sealer;
  /** Hashes the suppressed addresses of erased users. */
  hasher: SuppressionHasher;
  tokenKeys: TokenKeys;
  mailroom: Mailroom;
  /** Definitions, read once and again where they changed. */
  models: Models;
  mail: MailSettings;
  resolver: Resolver;
  /** By which letters leave: for test copies. */
  wayOut: () => Promise<Pick<Relay, 'hand'>>;
  /** The way to names that customers gave; whoever opens it closes it. */
  openOutbound: () => Outbound;
  webhooks: { allowPrivate: boolean; agent: string };
  transport: TransportRules;
  release: Release;
  installation: Installation;
  /** How many projects an organization may have. */
  projectsMax: number;
  /** Client name, in lower case → the least version that the operator wants of it. */
  minimumVersions: ReadonlyMap<string, string>;
  /** Who listens to what happens; left out, they are kept where the routes are. */
  feeds?: Feeds;
};

/** What the environment says of this installation, as far as people in the dashboard are to know. */
export type Installation = {
  publicUrl: string;
  /** Null: letters go into the outbox. Otherwise the relay, without its password. */
  relay: string | null;
  mailFrom: string | null;
  /** A model words letters where a project asks for it. */
  hasModel: boolean;
};
