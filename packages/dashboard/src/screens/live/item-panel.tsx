import type { FeedItem } from '@beckon/contract/dashboard';
import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Copy, Json, Loaded, Person, When } from '../../parts/index.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { Started } from './started.tsx';
import { TypeMark } from './type-mark.tsx';
import { wordsOf } from './words.ts';

/** One item of the stream: its type, links and full data. */
export function ItemPanel({ position }: { position: string }): ReactNode {
  const query = useApi('GET /projects/:project/stream/:place', { params: { place: position } });
  return <Loaded query={query}>{({ data }) => <Item item={data} />}</Loaded>;
}

function Item({ item }: { item: FeedItem }): ReactNode {
  const { place: _place, ...fields } = item;
  return (
    <Stack gap="md">
      <Group gap="sm" wrap="wrap">
        <TypeMark type={item.type} />
        <When at={item.at} style="long" />
        <Copy text={window.location.href} what="link to this item" />
      </Group>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {wordsOf(item)}
      </Text>
      <Leads item={item} />
      <Json value={fields} what="item" />
    </Stack>
  );
}

function Leads({ item }: { item: FeedItem }): ReactNode {
  const { external_user_id: user, email_id: message } = item;
  const draft = item.type === 'draft' ? item.id : item.draft_id;
  return (
    <Group gap="md" wrap="wrap">
      {user !== undefined && (
        <Text size="sm" component="span">
          User <Person id={user} />
        </Text>
      )}
      {item.started && (
        <Text size="sm" component="span">
          <Started rules={item.started} />
        </Text>
      )}
      {draft !== undefined && (
        <TextLink to="/p/$project/drafts/$draft" params={{ draft }}>
          Open draft
        </TextLink>
      )}
      {(item.type === 'email' || message !== undefined) && (
        <TextLink to="/p/$project/emails/$message" params={{ message: message ?? item.id }}>
          Open email
        </TextLink>
      )}
      {item.type === 'request' && (
        <TextLink to="/p/$project/requests" search={{ request: item.place }}>
          Open request
        </TextLink>
      )}
    </Group>
  );
}
