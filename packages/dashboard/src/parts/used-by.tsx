import { Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Muted } from './muted.tsx';
import { TextLink } from './text-link.tsx';

type Use = { kind: 'rule' | 'audience'; id: string; name: string };

/** Links to the rules and audiences that use an object. */
export function UsedBy({ uses, none, level }: { uses: Use[]; none: string; level: 2 | 3 }): ReactNode {
  return (
    <Stack gap={4}>
      <Title order={level} size={level === 2 ? 'h5' : 'h6'}>
        Used by
      </Title>
      {uses.length === 0 && <Muted>{none}</Muted>}
      {uses.map(({ kind, id, name }) => (
        <UseLink key={`${kind} ${id}`} kind={kind} id={id} name={name} />
      ))}
    </Stack>
  );
}

function UseLink({ kind, id, name }: Use): ReactNode {
  const words = `${name} (${kind})`;
  if (kind === 'rule')
    return (
      <TextLink to="/p/$project/rules/$rule" params={{ rule: id }}>
        {words}
      </TextLink>
    );
  return (
    <TextLink to="/p/$project/audiences/$audience" params={{ audience: id }}>
      {words}
    </TextLink>
  );
}
