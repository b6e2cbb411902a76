import type { Attack } from './attack.ts';
import { s01 } from './s01-authorization.ts';
import { s02 } from './s02-isolation.ts';
import { s03 } from './s03-outbound.ts';
import { s04 } from './s04-signatures.ts';
import { s05 } from './s05-json.ts';
import { s06 } from './s06-slow.ts';
import { s07 } from './s07-mail.ts';
import { s08 } from './s08-templates.ts';
import { s09 } from './s09-links.ts';
import { s10 } from './s10-browser.ts';
import { s11 } from './s11-races.ts';
import { s12 } from './s12-scanners.ts';
import { s13 } from './s13-transport.ts';
import { s14 } from './s14-secrets.ts';
import { s15 } from './s15-parsers.ts';
import { s16 } from './s16-supply.ts';
import { s17 } from './s17-cost.ts';

/** S1 to S17, in order. */
export const ATTACKS: Attack[] = [
  s01,
  s02,
  s03,
  s04,
  s05,
  s06,
  s07,
  s08,
  s09,
  s10,
  s11,
  s12,
  s13,
  s14,
  s15,
  s16,
  s17,
];
