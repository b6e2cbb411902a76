import type { Fault } from '../fault.ts';
import { CLOCK } from './clock.ts';
import { CRASH } from './crashes.ts';
import { DATABASE_FAULTS } from './database.ts';
import { ENDPOINT_FAULTS } from './endpoints.ts';
import { WIRE_FAULTS } from './wires.ts';

/** All faults around the product and inside it, besides plain kills. */
export const INJECTIONS: Fault[] = [CRASH, CLOCK, ...WIRE_FAULTS, ...DATABASE_FAULTS, ...ENDPOINT_FAULTS];
