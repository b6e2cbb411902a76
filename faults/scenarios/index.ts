import type { Fault } from '../fault.ts';
import { BRIM } from './brim.ts';
import { SLOW_KILLS } from './slow-kills.ts';
import { STOLEN } from './stolen.ts';

/** Situations that chance alone would seldom make: each is brought about on purpose, and what comes of it is judged as everything is. */
export const SCENARIOS: Fault[] = [BRIM, STOLEN, SLOW_KILLS];
