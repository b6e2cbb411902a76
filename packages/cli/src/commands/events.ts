import { call, list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';

export const events: Noun = {
  name: 'events',
  help: 'List the event names of a project, and mark events as expected',
  commands: [
    list('GET /projects/:project/events', 'list', {
      isPaged: true,
      help: 'List event names, with their counts and properties',
      row: [
        ...fields('name last_30_days count last_at canonical'),
        ['expected', ({ expected, drift }) => expected && (drift.length === 0 ? 'yes' : 'yes, but changed')],
        ['properties', ({ properties }) => properties.map(({ property }) => property).join(', ')],
      ],
      empty: 'No events yet. Send one: beckon track <user> <event>',
    }),
    call('GET /projects/:project/events/:event', 'show <event>', {
      help: 'Show an event with its properties and the newest examples',
      view: fields('name count last_30_days first_at last_at expected drift used_by properties newest'),
    }),
    call('PUT /projects/:project/events/:event/expected', 'expect <event>', {
      help: 'Mark an event as expected, as it is now, to be warned when it stops or changes',
      view: ({ name }) => `${name} is expected as it is now. Changes are shown in: beckon events list`,
    }),
    call('DELETE /projects/:project/events/:event/expected', 'ignore-changes <event>', {
      help: 'Stop warning about changes of an event',
      view: ({ name }) => `Beckon no longer warns about changes of ${name}.`,
    }),
  ],
};
