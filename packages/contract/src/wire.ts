/** The types of the public API, derived from its schemas. This file has no code, so importing it does not load TypeBox. */

import type { Static } from 'typebox';
import type * as schema from './schema.ts';

export type UserInput = Static<typeof schema.UserSchema>;
export type EventInput = Static<typeof schema.EventSchema>;
export type UsersBulkInput = Static<typeof schema.UsersBulkSchema>;
export type EventsBatchInput = Static<typeof schema.EventsBatchSchema>;
export type EventsBulkInput = Static<typeof schema.EventsBulkSchema>;

export type Accepted = Static<typeof schema.AcceptedSchema>;
export type BatchAccepted = Static<typeof schema.BatchAcceptedSchema>;
export type BulkResult = Static<typeof schema.BulkResultSchema>;
export type BulkError = Static<typeof schema.BulkErrorSchema>;
export type ErrorBody = Static<typeof schema.ErrorSchema>;
export type ErrorEntry = Static<typeof schema.ErrorEntrySchema>;
