import type { FeedItem } from '@beckon/contract/dashboard';
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useProject } from '../../api/index.ts';
import { Copy, Json, Loaded, Person, When } from '../../parts/index.ts';
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
      {draft !== undefined && (
        <ToLink to="/p/$project/drafts/$draft" params={{ draft }}>
          Open draft
        </ToLink>
      )}
      {(item.type === 'email' || message !== undefined) && (
        <ToLink to="/p/$project/emails/$message" params={{ message: message ?? item.id }}>
          Open email
        </ToLink>
      )}
      {item.type === 'request' && (
        <ToLink to="/p/$project/requests" params={{}} search={{ request: item.place }}>
          Open request
        </ToLink>
      )}
    </Group>
  );
}

type ToProps = {
  to: '/p/$project/drafts/$draft' | '/p/$project/emails/$message' | '/p/$project/requests';
  params: Record<string, string>;
  search?: Record<string, string>;
  children: ReactNode;
};

function ToLink({ to, params, search, children }: ToProps): ReactNode {
  const project = String(useProject().id);
  const at = { to, params: { project, ...params }, ...(search ? { search } : {}) } as never;
  return (
    <Anchor size="sm" renderRoot={(props) => <Link {...(at as object)} {...props} />}>
      {children}
    </Anchor>
  );
}
