import type { EventDrift, EventProperty } from '@beckon/contract/dashboard';
import { call, list, type Noun } from '../framework/declare.ts';
import { importCommand } from '../import/command.ts';
import type { Words } from '../output/words.ts';

export const events: Noun = {
  name: 'events',
  help: 'Import events, and list the event names of a project',
  commands: [
    list('GET /projects/:project/events', 'list', {
      help: 'List event names, with their counts and properties',
      row: [
        'name',
        'last_30_days',
        'count',
        'last_at',
        'canonical',
        ['expected', ({ expected, drift }) => expected && (drift.length === 0 ? 'yes' : 'yes, but changed')],
        ['properties', ({ properties }) => properties.map(({ property }) => property).join(', ')],
      ],
      empty: 'No events yet. Send one: beckon track <user> <event>',
    }),
    call('GET /projects/:project/events/:event', 'show <event>', {
      help: 'Show an event with its properties and the newest examples',
      view: (event, words) => [
        {
          event: event.name,
          total: event.count,
          'last 30 days': event.last_30_days,
          'first seen': words.when(event.first_at),
          'last seen': words.when(event.last_at),
          expected:
            event.expected && `since ${words.when(event.expected.since)}, set by ${event.expected.by}`,
          changed: event.drift.map((drift) => driftText(drift, words)),
          'used by': event.used_by.map(({ kind, name }) => `${kind} ${name}`),
        },
        { title: 'Properties', rows: event.properties.map((one) => propertyRow(one, event, words)) },
        {
          title: 'Newest events',
          rows: event.newest.map(({ external_user_id, occurred_at, properties }) => ({
            user: external_user_id,
            time: words.when(occurred_at),
            properties: JSON.stringify(properties),
          })),
        },
      ],
    }),
    call('PUT /projects/:project/events/:event/expected', 'expect <event>', {
      help: 'Mark an event as expected, as it is now, to be warned when it stops or changes',
      view: ({ name }) => `${name} is expected as it is now. Changes are shown in: beckon events list`,
    }),
    call('DELETE /projects/:project/events/:event/expected', 'unexpect <event>', {
      help: 'Stop warning about changes of an event',
      view: ({ name }) => `${name} is no longer expected.`,
    }),
    importCommand('events'),
  ],
};

function driftText(drift: EventDrift, { when }: Words): string {
  switch (drift.kind) {
    case 'stopped':
      return `stopped: last seen ${when(drift.last_at)}`;
    case 'new_property':
      return `new property ${drift.property} since ${when(drift.since)}`;
    case 'new_type':
      return `property ${drift.property} is also ${drift.type} since ${when(drift.since)}`;
    default:
      return drift satisfies never;
  }
}

function propertyRow(
  { property, types, conflict, last_at }: EventProperty,
  { examples }: { examples: { property: string; values: unknown[] }[] },
  { when }: Words,
) {
  const values = examples.find((one) => one.property === property)?.values ?? [];
  return {
    property,
    types: `${types.join(' or ')}${conflict ? ' (conflict)' : ''}`,
    'last seen': when(last_at),
    examples: values.map((value) => JSON.stringify(value)).join(', '),
  };
}
