/** How each list of the dashboard can be filtered. This file does not load TypeBox. */

import { ROLES } from './access.ts';
import {
  DRAFT_STATES,
  EMAIL_OUTCOMES,
  EMAIL_STATES,
  REVIEW_ACTIONS,
  RULE_MODES,
  SUPPRESSION_REASONS,
} from './choices.ts';

/** Values that the server suggests for a key, because they depend on the project. */
export const SUGGESTED_KINDS = [
  'rule',
  'template',
  'audience',
  'event',
  'plan',
  'company',
  'role',
  'trait',
  'topic',
  'domain',
  'api_key',
] as const;
export type SuggestedKind = (typeof SUGGESTED_KINDS)[number];

export type FilterKey = {
  /** The property that the key compares, as the completion shows it. */
  about: string;
  /** The only values that rows can have. The server rejects others. */
  values?: readonly string[];
  suggest?: SuggestedKind;
  /** The values are times: a day, or a time after < or >. */
  isTime?: true;
};
export type FilterKeys = Readonly<Record<string, FilterKey>>;

const YES_NO = ['yes', 'no'] as const;

/** The states of webhook deliveries. */
export const DELIVERY_STATES = [
  'pending',
  'delivering',
  'delivered',
  'exhausted',
  'missed',
  'canceled',
] as const;

export const DOMAIN_STATES = ['pending', 'verified', 'degraded', 'failed'] as const;

export const IMPORT_KINDS = ['users', 'events', 'stripe'] as const;

export const IMPORT_STATES = [
  'uploading',
  'ready',
  'checking',
  'checked',
  'running',
  'paused',
  'done',
  'failed',
  'canceled',
] as const;

/**
 * The keys of the filter of each list. The server parses filters by these keys, and the dashboard completes them. Words without a key are
 * searched in the main texts of a row.
 */
export const FILTER_KEYS = {
  users: {
    user: { about: 'User ID' },
    email: { about: 'Email address' },
    name: { about: 'Name' },
    plan: { about: 'Plan', suggest: 'plan' },
    company: { about: 'Company', suggest: 'company' },
    role: { about: 'Role', suggest: 'role' },
    audience: { about: 'Audience', suggest: 'audience' },
    seen: { about: 'Last seen', isTime: true },
    first_seen: { about: 'First seen', isTime: true },
    'trait.<name>': { about: 'Value of a trait', suggest: 'trait' },
  },
  emails: {
    state: { about: 'State', values: EMAIL_STATES },
    outcome: { about: 'Outcome', values: EMAIL_OUTCOMES },
    rule: { about: 'Rule', suggest: 'rule' },
    template: { about: 'Template', suggest: 'template' },
    user: { about: 'User ID' },
    address: { about: 'Email address' },
    domain: { about: 'Sending domain', suggest: 'domain' },
    provider: { about: 'Email provider of the recipient' },
    reason: { about: 'Reason code' },
    ended: { about: 'Time of the final state', isTime: true },
    sent: { about: 'Time of sending', isTime: true },
    resent: { about: 'Sent again', values: YES_NO },
  },
  test_inbox: {
    user: { about: 'User ID' },
    to: { about: 'Recipient address' },
    subject: { about: 'Subject' },
    kind: { about: 'Kind of recipient', values: ['user', 'team'] },
    received: { about: 'Time of arrival', isTime: true },
  },
  replies: {
    user: { about: 'User ID' },
    from: { about: 'Sender address' },
    subject: { about: 'Subject' },
    forwarded: { about: 'Forwarding', values: ['none', 'waiting', 'done', 'failed'] },
    received: { about: 'Time of arrival', isTime: true },
  },
  topics: {
    email: { about: 'Email address' },
    user: { about: 'User ID' },
    topic: { about: 'Topic', suggest: 'topic' },
    kind: { about: 'Address or user', values: ['email', 'user'] },
    since: { about: 'Time of unsubscribing', isTime: true },
  },
  requests: {
    status: { about: 'Status code of the response' },
    endpoint: { about: 'API endpoint' },
    code: { about: 'Error code' },
    key: { about: 'API key', suggest: 'api_key' },
  },
  endpoints: {
    url: { about: 'URL' },
    description: { about: 'Description' },
    state: { about: 'State', values: ['enabled', 'disabled'] },
    failing: { about: 'Recent attempts failed', values: YES_NO },
    type: { about: 'Webhook type that it receives' },
    created: { about: 'Time of creation', isTime: true },
  },
  deliveries: {
    state: { about: 'State', values: DELIVERY_STATES },
    type: { about: 'Webhook type' },
    created: { about: 'Time of creation', isTime: true },
  },
  suppressions: {
    email: { about: 'Email address' },
    user: { about: 'User ID' },
    reason: { about: 'Reason', values: SUPPRESSION_REASONS },
    kind: { about: 'Address or user', values: ['email', 'user'] },
    erased: { about: 'Entry of an erased user', values: YES_NO },
    by: { about: 'Author' },
    since: { about: 'Time of suppression', isTime: true },
  },
  imports: {
    name: { about: 'File name' },
    kind: { about: 'Kind of import', values: IMPORT_KINDS },
    state: { about: 'State', values: IMPORT_STATES },
  },
  dead_letters: {
    kind: { about: 'Kind of record', values: ['users', 'events'] },
    priority: { about: 'Priority', values: ['live', 'bulk'] },
    reason: { about: 'Reason' },
  },
  audit: {
    action: { about: 'Action, such as draft.approve' },
    member: { about: 'Name of the member' },
    object: { about: 'Object of the action' },
    token: { about: 'Label of the access token' },
    at: { about: 'Time', isTime: true },
  },
  rules: {
    name: { about: 'Name', suggest: 'rule' },
    state: { about: 'State', values: ['enabled', 'disabled'] },
    mode: { about: 'Mode', values: RULE_MODES },
    event: { about: 'Event that starts the rule', suggest: 'event' },
    audience: { about: 'Audience that starts the rule', suggest: 'audience' },
    template: { about: 'Template of one of its emails', suggest: 'template' },
    topic: { about: 'Topic of its emails', suggest: 'topic' },
    active: { about: 'Users or emails in the last 7 days', values: YES_NO },
    warning: { about: 'Has a warning', values: YES_NO },
  },
  audiences: {
    name: { about: 'Name' },
    state: { about: 'State', values: ['ready', 'building', 'rebuilding'] },
    rule: { about: 'Used by the rule', suggest: 'rule' },
  },
  audience_members: {
    user: { about: 'User ID' },
    email: { about: 'Email address' },
    name: { about: 'Name' },
    since: { about: 'Time of joining', isTime: true },
  },
  runs: {
    user: { about: 'User ID' },
    state: { about: 'State', values: ['active', 'paused'] },
    waits: { about: 'Reason to wait', values: ['time', 'event', 'draft'] },
    version: { about: 'Version of the rule' },
    trigger: { about: 'Event, trait or audience that enrolled the user' },
    enrolled: { about: 'Time of enrollment', isTime: true },
    next: { about: 'Time of the next step', isTime: true },
  },
  domains: {
    name: { about: 'Name' },
    state: { about: 'State', values: DOMAIN_STATES },
    paused: { about: 'Paused', values: YES_NO },
    added: { about: 'Time of adding', isTime: true },
  },
  keys: {
    label: { about: 'Label' },
    state: { about: 'State', values: ['active', 'revoked'] },
    env: { about: 'Environment', values: ['live', 'test'] },
    client: { about: 'Client library' },
    by: { about: 'Name of the member who created it' },
    created: { about: 'Time of creation', isTime: true },
    used: { about: 'Time of the last use', isTime: true },
  },
  team: {
    name: { about: 'Name' },
    email: { about: 'Email address' },
    role: { about: 'Role', values: ROLES },
    two_factor: { about: 'Has an authenticator app', values: YES_NO },
    joined: { about: 'Time of joining', isTime: true },
  },
  events: {
    name: { about: 'Event name', suggest: 'event' },
    property: { about: 'Property' },
    canonical: { about: 'Name from the catalog', values: YES_NO },
    expected: { about: 'Marked as expected', values: YES_NO },
    drift: { about: 'Change of an expected event', values: ['stopped', 'changed', 'none'] },
  },
  templates: {
    name: { about: 'Name' },
    subject: { about: 'Subject' },
    origin: { about: 'Built-in, or of the project', values: ['built_in', 'project'] },
    unpublished: { about: 'Has an unpublished version', values: YES_NO },
    format: { about: 'Format', values: ['markdown', 'mjml'] },
    rule: { about: 'Used by the rule', suggest: 'rule' },
  },
  activity: {
    type: {
      about: 'Type',
      values: [
        'request',
        'event',
        'draft',
        'draft_changed',
        'email',
        'outcome',
        'user_created',
        'user_changed',
        'user_erased',
        'audience_joined',
        'audience_left',
        'audience_built',
        'bulk_change',
      ],
    },
    name: { about: 'Name of an event, an action or an outcome', suggest: 'event' },
    user: { about: 'User ID' },
    rule: { about: 'Rule', suggest: 'rule' },
    audience: { about: 'Audience', suggest: 'audience' },
    status: { about: 'Status code of the response' },
    endpoint: { about: 'API endpoint' },
    code: { about: 'Error code' },
    key: { about: 'API key', suggest: 'api_key' },
  },
  drafts: {
    state: { about: 'State', values: DRAFT_STATES },
    rule: { about: 'Rule', suggest: 'rule' },
    user: { about: 'User ID' },
    subject: { about: 'Subject' },
    reason: { about: 'Reason code' },
    edited: { about: 'Edited by a member', values: YES_NO },
    hold: { about: 'Event that ends the hold', values: ['action', 'time'] },
    deadline: { about: 'Deadline', isTime: true },
  },
  decided: {
    action: { about: 'Decision', values: REVIEW_ACTIONS },
    by: { about: 'Name of the member' },
    rule: { about: 'Rule', suggest: 'rule' },
    user: { about: 'User ID' },
    subject: { about: 'Subject' },
    state: { about: 'State of the draft now', values: DRAFT_STATES },
    at: { about: 'Time of the decision', isTime: true },
  },
} satisfies Record<string, FilterKeys>;

export type ListName = keyof typeof FILTER_KEYS;
