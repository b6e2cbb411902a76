import type { Fault } from '../fault.ts';
import { BRIM } from './brim.ts';
import { SLOW_KILLS } from './slow-kills.ts';
import { STOLEN } from './stolen.ts';

/** Situations that rarely occur at random. Each is caused on purpose, and its result is checked like any other. */
export const SCENARIOS: Fault[] = [BRIM, STOLEN, SLOW_KILLS];
