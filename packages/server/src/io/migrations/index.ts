import type { Migration } from 'kysely/migration';
import * as ground from './0001-ground.ts';
import * as digest from './0002-digest.ts';
import * as rules from './0003-rules.ts';
import * as sending from './0004-sending.ts';
import * as wording from './0005-wording.ts';
import * as outcomes from './0006-outcomes.ts';
import * as dashboard from './0007-dashboard.ts';
import * as team from './0008-team.ts';
import * as review from './0009-review.ts';
import * as peopleViews from './0010-people-views.ts';
import * as rulesAndLetters from './0011-rules-and-letters.ts';
import * as live from './0012-live.ts';
import * as needs from './0013-needs.ts';
import * as tokens from './0014-tokens.ts';
import * as imports from './0015-imports.ts';
import * as sandbox from './0016-sandbox.ts';
import * as requestFaults from './0017-request-faults.ts';
import * as restores from './0018-restores.ts';
import * as lostTime from './0019-lost-time.ts';
import * as teamHeard from './0020-team-heard.ts';
import * as reviewRestored from './0021-review-restored.ts';
import * as auditOrganisations from './0022-audit-organisations.ts';
import * as putOffAndHeld from './0023-put-off-and-held.ts';
import * as beneathAndFresh from './0024-beneath-and-fresh.ts';
import * as forgottenKeys from './0025-forgotten-keys.ts';
import * as closedGate from './0026-closed-gate.ts';
import * as trackingHostWorked from './0029-tracking-host-worked.ts';
import * as sessionConfirmed from './0030-session-confirmed.ts';
import * as erasedAddresses from './0031-erased-addresses.ts';

/** Forward only, never edited once released; a list and not a folder scan, so that a lost file is a type error. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-ground': ground,
  '0002-digest': digest,
  '0003-rules': rules,
  '0004-sending': sending,
  '0005-wording': wording,
  '0006-outcomes': outcomes,
  '0007-dashboard': dashboard,
  '0008-team': team,
  '0009-review': review,
  '0010-people-views': peopleViews,
  '0011-rules-and-letters': rulesAndLetters,
  '0012-live': live,
  '0013-needs': needs,
  '0014-tokens': tokens,
  '0015-imports': imports,
  '0016-sandbox': sandbox,
  '0017-request-faults': requestFaults,
  '0018-restores': restores,
  '0019-lost-time': lostTime,
  '0020-team-heard': teamHeard,
  '0021-review-restored': reviewRestored,
  '0022-audit-organisations': auditOrganisations,
  '0023-put-off-and-held': putOffAndHeld,
  '0024-beneath-and-fresh': beneathAndFresh,
  '0025-forgotten-keys': forgottenKeys,
  '0026-closed-gate': closedGate,
  '0029-tracking-host-worked': trackingHostWorked,
  '0030-session-confirmed': sessionConfirmed,
  '0031-erased-addresses': erasedAddresses,
};
