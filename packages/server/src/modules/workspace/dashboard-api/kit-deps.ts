import type { NewId } from '../../../platform/ids.ts';
import type { Pepper } from '../../../platform/crypto/hash.ts';
import type { Log } from '../../../platform/log.ts';
import type { Access } from '../members/team.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { TransportRules } from '../../../platform/http/transport.ts';
import type { Feeds } from './feeds.ts';

/** The dependencies of the kit that serves all routes; every route has them too. */
export type KitDeps = {
  db: Database;
  newId: NewId;
  log: Log;
  /** Identifies callers and their roles. */
  access: Access;
  /** All open feeds of the process, which end when their member may no longer read them. */
  feeds: Feeds;
  /** Checks personal tokens. */
  pepper: Pepper;
  transport: TransportRules;
};
