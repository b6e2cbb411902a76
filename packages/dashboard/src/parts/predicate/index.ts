/** A form for the audience language, without domain knowledge. */
export { PredicateEditor } from './editor.tsx';
