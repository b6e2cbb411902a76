/** The types of the public API. `schema.ts` has the same types in TypeBox, and a type test proves that they agree. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export type UserInput = { external_user_id: string; email?: string; traits?: JsonObject };

export type EventInput = {
  external_user_id: string;
  name: string;
  properties?: JsonObject;
  occurred_at?: string;
  message_id?: string;
};

export type UsersBulkInput = { users: UserInput[] };
export type EventsBatchInput = { events: EventInput[]; suppressTriggers?: boolean };
export type EventsBulkInput = EventsBatchInput;

export type Accepted = { data: { accepted: true } };
export type BatchAccepted = { data: { accepted: true }; meta: { received: number } };
export type BulkError = { index: number; code: 'validation'; message: string; field?: string };
export type BulkResult = {
  data: { accepted: number; rejected: number; errors: BulkError[] };
  meta: { received: number };
};
export type ErrorEntry = { code: string; message: string; field?: string };
export type ErrorBody = { errors: ErrorEntry[] };
