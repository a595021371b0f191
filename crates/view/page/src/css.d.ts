// Style sheets are imported for the bundler alone; they have no value.
declare module "*.css";
