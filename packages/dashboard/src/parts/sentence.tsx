import type { ReactNode } from 'react';
import classes from './sentence.module.css';

/** A definition in words. Quoted values come from users and are highlighted, always as plain text. */
export function Sentence({ text }: { text: string }): ReactNode {
  return (
    <span className={classes.sentence}>
      {text.split(/(“[^”]*(?:”|$))/).map((piece, index) =>
        index % 2 === 1 ? (
          <q key={index} className={classes.value}>
            {piece.replaceAll(/^“|”$/g, '')}
          </q>
        ) : (
          piece
        ),
      )}
    </span>
  );
}
